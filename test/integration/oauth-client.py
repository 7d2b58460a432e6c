# All flows with requests-oauthlib, the client library many existing programs use. Prints each address the user would be sent to and
# reads from standard input the address the browser was sent back to.
import base64, hashlib, json, secrets, sys
from requests_oauthlib import OAuth2Session
from oauthlib.oauth2 import LegacyApplicationClient

base, ca, client_id, client_secret, redirect_uri, username, password = sys.argv[1:]
token_url = base + '/oauth/token/'


def me(session):
    answer = session.get(base + '/v1/me/', verify=ca)
    return answer.status_code


def check(what, got, expected):
    if got != expected:
        raise SystemExit('%s: %r instead of %r' % (what, got, expected))


# Code, PKCE; the secret goes by Basic, the default of the library.
session = OAuth2Session(client_id, redirect_uri=redirect_uri, scope=['read', 'write'])
verifier = secrets.token_urlsafe(48)
challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b'=').decode()
url, state = session.authorization_url(base + '/oauth/authorize/', code_challenge=challenge, code_challenge_method='S256')
print(json.dumps({'url': url}), flush=True)
callback = sys.stdin.readline().strip()
token = session.fetch_token(
    token_url, authorization_response=callback, client_secret=client_secret, code_verifier=verifier, verify=ca
)
check('scope', token['scope'], ['read', 'write'])
check('code', me(session), 200)

# Refresh, without and with the secret.
for auth in [{}, {'client_secret': client_secret}]:
    old = session.token['access_token']
    session.refresh_token(token_url, client_id=client_id, verify=ca, **auth)
    check('refresh', me(session), 200)
    check('old token', OAuth2Session(client_id, token={'access_token': old, 'token_type': 'Bearer'}).get(base + '/v1/me/', verify=ca).status_code, 401)

# Refreshed by the library itself once it believes the token has expired.
saved = []
auto = OAuth2Session(
    client_id,
    token={**session.token, 'expires_in': -1, 'expires_at': 1},
    auto_refresh_url=token_url,
    auto_refresh_kwargs={'client_id': client_id, 'client_secret': client_secret},
    token_updater=saved.append,
)
check('automatic refresh', auto.get(base + '/v1/me/', verify=ca).status_code, 200)
check('saved', len(saved), 1)

# Revocation.
answer = auto.post(base + '/oauth/token-revoke/', data={'token': auto.token['refresh_token'], 'client_id': client_id}, withhold_token=True, verify=ca)
check('revoke', (answer.status_code, answer.text), (200, ''))
check('revoked', me(auto), 401)

# Password, with the id alone in the body and with the secret by Basic.
for more in [{'include_client_id': True}, {'client_secret': client_secret}]:
    session = OAuth2Session(client=LegacyApplicationClient(client_id=client_id))
    session.fetch_token(token_url, username=username, password=password, client_id=client_id, verify=ca, **more)
    check('password', me(session), 200)
print(json.dumps({'done': True}), flush=True)
