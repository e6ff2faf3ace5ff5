#!/usr/bin/env python3
"""Reads CSV the way spreadsheets write it: quoted cells, line breaks inside cells, any delimiter."""
import csv
import io
import json
import sys

SCHEMA = {
    "name": "csv.to_json",
    "version": "1.0.0",
    "description": "Turns CSV text into a list of objects, one for each row, named by the header line.",
    "tags": ["text", "data"],
    "risk": "low",
    "mutates": False,
    "idempotent": True,
    "input_schema": {
        "type": "object",
        "properties": {
            "csv": {"type": "string", "description": "The text, with a header line"},
            "delimiter": {"type": "string", "minLength": 1, "maxLength": 1, "default": ","},
        },
        "required": ["csv"],
        "additionalProperties": False,
    },
    "output_schema": {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": {"type": "object"}}},
        "required": ["rows"],
    },
}


def run(call):
    lines = io.StringIO(call["csv"], newline="")
    rows = list(csv.reader(lines, delimiter=call.get("delimiter", ","), strict=True))
    header, body = (rows[0], rows[1:]) if rows else ([], [])
    if len(set(header)) != len(header):
        raise ValueError("two columns have the same name")
    for number, row in enumerate(body, start=2):
        if row and len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} cells, the header has {len(header)}")
    return {"rows": [dict(zip(header, row)) for row in body if row]}


def main():
    if sys.argv[1:] == ["--schema"]:
        print(json.dumps(SCHEMA))
        return
    sys.stdin.reconfigure(encoding="utf-8")
    try:
        answer = run(json.load(sys.stdin))
    except (ValueError, KeyError, csv.Error) as error:
        sys.exit(f"This is not CSV that can be read: {error}")
    print(json.dumps(answer))


main()
