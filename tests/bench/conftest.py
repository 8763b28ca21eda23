"""Workshops here too."""

from tests.usecases.conftest import workshop as workshop
