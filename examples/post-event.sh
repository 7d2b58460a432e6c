#!/bin/sh
# Sends an event of a camera to Nightjar, as a doorbell or a sensor would: the camera's hash is all the credential it needs.
#
#   export NIGHTJAR_URL=https://localhost:8443
#   export NIGHTJAR_HASH=…            # event_api_hash of the camera, from GET /v1/cameras/
#   export CURL_CA_BUNDLE=data/tls/cert.pem    # while the server has a certificate of its own
#   examples/post-event.sh 'Somebody rang' doorbell
#
# The arguments are a title and a category (a-z, 0-9, _), both may be missing. Prints the event. Exit codes: 0 it is there,
# 1 the server refused it (its words are on standard error), 2 something is missing here, others are those of curl.

set -eu

usage() {
  printf 'usage: NIGHTJAR_URL=… NIGHTJAR_HASH=… %s [TITLE] [CATEGORY]\n' "$0"
}

fail() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 2
}

# One JSON string: quotes and backslashes are escaped, control characters become spaces.
json_string() {
  printf '"%s"' "$(printf '%s' "$1" | tr '\001-\037\177' ' ' | sed 's/[\\"]/\\&/g')"
}

case "${1:-}" in
-h | --help)
  usage
  exit 0
  ;;
esac
[ $# -le 2 ] || fail "$(usage)"
[ -n "${NIGHTJAR_URL:-}" ] || fail 'NIGHTJAR_URL is not set: the address of the server'
[ -n "${NIGHTJAR_HASH:-}" ] || fail 'NIGHTJAR_HASH is not set: the event_api_hash of the camera'
command -v curl >/dev/null || fail 'curl is not installed'

body="{\"hash\": $(json_string "$NIGHTJAR_HASH")"
[ -z "${1:-}" ] || body="$body, \"title\": $(json_string "$1")"
[ -z "${2:-}" ] || body="$body, \"category\": $(json_string "$2")"
body="$body}"

# The hash goes over standard input, where other users of this machine do not see it. The answer's last line is its status.
answer=$(printf '%s' "$body" | curl --silent --show-error --max-time 30 --header 'Content-Type: application/json' \
  --data-binary @- --write-out '\n%{http_code}' "${NIGHTJAR_URL%/}/v1/events/")
status=${answer##*
}
text=${answer%
*}

if [ "$status" = 201 ]; then
  printf '%s\n' "$text"
else
  printf '%s: the server answered %s: %s\n' "${0##*/}" "$status" "$text" >&2
  exit 1
fi
