"""What is known of a file, as an attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.adapters.dynamodb import items
from chalicelib.core.tools import FileRef

if TYPE_CHECKING:
    from chalicelib.adapters.dynamodb.items import Attribute


def attribute(file: FileRef) -> Attribute:
    return {
        "M": {
            "file_id": items.text(file.file_id),
            "name": items.text(file.name),
            "size": items.number(file.size),
            "media_type": items.text(file.media_type),
        }
    }


def read(attribute: Attribute) -> FileRef:
    fields = attribute["M"]
    return FileRef(fields["file_id"]["S"], fields["name"]["S"], int(fields["size"]["N"]), fields["media_type"]["S"])
