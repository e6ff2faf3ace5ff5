#!/usr/bin/env bash
# Random bytes for names and tokens. Models are bad at inventing them.
set -euo pipefail

if [[ ${1-} == --schema ]]; then
  cat <<'JSON'
{
  "name": "random.hex",
  "version": "1.0.0",
  "description": "Random bytes from the system, in hexadecimal: for tokens, ids and file names that must not be guessed.",
  "tags": ["random"],
  "risk": "low",
  "mutates": false,
  "input_schema": {
    "type": "object",
    "properties": { "bytes": { "type": "integer", "minimum": 1, "maximum": 1024, "default": 16 } },
    "additionalProperties": false
  },
  "output_schema": {
    "type": "object",
    "properties": { "hex": { "type": "string" } },
    "required": ["hex"]
  }
}
JSON
  exit
fi

# The gate has checked the input against the schema: the only number in it is the one we want.
input=$(cat)
bytes=16
if [[ $input =~ \"bytes\"[[:space:]]*:[[:space:]]*([0-9]+) ]]; then bytes=${BASH_REMATCH[1]}; fi
if ((bytes < 1 || bytes > 1024)); then
  echo 'bytes must be between 1 and 1024.' >&2
  exit 2
fi
hex=$(od -An -v -tx1 -N "$bytes" /dev/urandom | tr -d ' \n')
printf '{"hex":"%s"}\n' "$hex"
