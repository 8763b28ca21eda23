"""The package that is deployed, built and kept until something in it changes; `python -m infra.build` checks it too."""

from __future__ import annotations

import argparse
import copy
import fcntl
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra import edge, sandbox
from infra.edge_package import package_edge
from infra.package import ROOT, SHIPPED, package, tool
from infra.sandbox_package import package_sandbox
from infra.template import merge_template

BUILD = ROOT / "infra" / "build"
CODE = {"Bucket": "pawl-code", "Key": "deployment.zip"}
"""Where the transformed template looks for the zip. A deployment takes sam.json, and puts it where it likes."""
OTHER_CODE = {edge.CODE: {**CODE, "Key": "edge.zip"}, sandbox.CODE: {**CODE, "Key": "sandbox.zip"}}

MOTO_LACKS = ("AWS::ApiGateway", "AWS::Lambda::Alias")

Template = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Built:
    """`template` is what SAM takes, `transformed` the CloudFormation it makes of that, `zip` the functions' code."""

    template: Template
    transformed: Template
    zip: Path


def build(out: Path = BUILD, stage: str = "dev") -> Built:
    """Package into `out`, or take what lies there if it was made from the same sources."""
    out.mkdir(parents=True, exist_ok=True)
    stamp, wanted = out / "stamp", _digest(stage)
    with _alone(out):
        if not stamp.exists() or stamp.read_text() != wanted:
            stamp.unlink(missing_ok=True)
            with tempfile.TemporaryDirectory(dir=out) as scratch:
                _make(Path(scratch), stage)
                for made in Path(scratch).iterdir():
                    made.replace(out / made.name)
            stamp.write_text(wanted)
        return Built(_read(out / "sam.json"), _read(out / "template.json"), out / "deployment.zip")


def _make(out: Path, stage: str) -> None:
    merge = out / "merge.json"
    _write(merge, merge_template(stage))
    package(merge, stage, out)
    package_edge(out)
    package_sandbox(out)
    _write(out / "template.json", transform(_read(out / "sam.json")))


def transform(template: Template) -> Template:
    """What SAM makes of the template when it is deployed."""
    # Imported here, because both take a second to load and a kept build needs neither.
    import boto3
    from samtranslator.parser.parser import Parser
    from samtranslator.translator.translator import Translator

    given = copy.deepcopy(template)
    for resource in given["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = OTHER_CODE.get(resource["Properties"]["CodeUri"], CODE)
    session = boto3.Session(region_name="us-east-1")
    made: Template = Translator({}, Parser(), boto_session=session).translate(given, parameter_values={})
    return made


def lint(*templates: Path) -> str:
    """What cfn-lint has against them; nothing, if all is well."""
    done = subprocess.run([tool("cfn-lint"), *templates], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def for_moto(transformed: Template) -> Template:
    """The template without what moto's CloudFormation lacks, and without what only serves that."""
    resources = transformed["Resources"]
    # What a condition leaves out, moto lists all the same, without its name.
    gone = {name for name, each in resources.items() if each["Type"].startswith(MOTO_LACKS) or "Condition" in each}
    gone |= {
        name for name, each in resources.items() if each["Type"] == "AWS::Lambda::Permission" and _mentions(each, gone)
    }
    kept = {name: _without(each, gone) for name, each in resources.items() if name not in gone}
    outputs = {name: each for name, each in transformed["Outputs"].items() if not _mentions(each, gone)}
    return {**transformed, "Resources": kept, "Outputs": outputs}


def _without(resource: dict[str, Any], gone: set[str]) -> dict[str, Any]:
    """The resource without the variables and the permissions that lead to what is gone."""
    made = copy.deepcopy(resource)
    properties = made.get("Properties", {})
    if made["Type"] == "AWS::Lambda::Function":
        variables = properties["Environment"]["Variables"]
        properties["Environment"]["Variables"] = {n: v for n, v in variables.items() if not _mentions(v, gone)}
    if made["Type"] == "AWS::IAM::Role":
        for policy in properties.get("Policies", []):
            allowed = policy["PolicyDocument"]["Statement"]
            policy["PolicyDocument"]["Statement"] = [each for each in allowed if not _mentions(each, gone)]
    return made


def _mentions(value: object, names: set[str]) -> bool:
    """Whether `value` refers to one of the logical ids, by Ref, GetAtt or Sub."""
    text = json.dumps(value)
    return any(f'"{name}"' in text or f"${{{name}}}" in text or f"${{{name}." in text for name in names)


def _digest(stage: str) -> str:
    digest = hashlib.sha256(f"{stage} {sys.version}".encode())
    for source in sorted(_sources()):
        digest.update(f"{source.relative_to(ROOT)}\0{len(source.read_bytes())}\0".encode() + source.read_bytes())
    return digest.hexdigest()


def _sources() -> Iterator[Path]:
    for place in (ROOT / name for name in (*SHIPPED, "requirements-edge.txt", "requirements-dev.txt", "infra")):
        inside = place.glob("*.*") if place.name == "infra" else place.rglob("*")
        yield from (path for path in (place, *inside) if path.is_file() and path.suffix != ".pyc")


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """One builder at a time: tests in several processes share a build."""
    with (out / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _read(path: Path) -> Template:
    read: Template = json.loads(path.read_text())
    return read


def _write(path: Path, template: Template) -> None:
    path.write_text(json.dumps(template, indent=2) + "\n")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m infra.build", description=__doc__)
    parser.add_argument("--out", type=Path, default=BUILD, help="where to put sam.json, template.json and the zip")
    parser.add_argument("--stage", default="dev", help="the default of the stack's Stage parameter")
    asked = parser.parse_args()
    built = build(asked.out, asked.stage)
    if faults := lint(asked.out / "sam.json", asked.out / "template.json"):
        raise SystemExit(faults)
    print(f"{built.zip} ({built.zip.stat().st_size / 1e6:.1f} MB), {asked.out / 'sam.json'}")


if __name__ == "__main__":
    main()
