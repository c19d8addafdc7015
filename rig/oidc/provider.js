// oidc-provider as a program of its own, for the test of logins: with a client, people and their groups that the test writes.
// Its keys are new at each start.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Provider } from 'oidc-provider';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, PEOPLE } = process.env;
const at = new URL(ISSUER);

const client = (client_id, client_secret) => ({
  client_id, client_secret, redirect_uris: [REDIRECT_URI], response_types: ['code'], grant_types: ['authorization_code'],
  token_endpoint_auth_method: 'client_secret_basic', id_token_signed_response_alg: 'ES256',
});

const signs = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });

const provider = new Provider(ISSUER, {
  clients: [client(CLIENT_ID, CLIENT_SECRET), client('other', 'secret of other')],
  jwks: { keys: [{ ...signs, kid: randomUUID(), use: 'sig', alg: 'ES256' }] },
  cookies: { keys: [randomUUID()] },
  pkce: { required: () => true },
  scopes: ['openid', 'profile', 'email', 'groups'],
  claims: { openid: ['sub'], profile: ['preferred_username'], email: ['email', 'email_verified'], groups: ['groups'] },
  // The file is read at each question. Somebody without groups there has no such claim.
  findAccount: (_, name) => {
    const claims = JSON.parse(readFileSync(PEOPLE, 'utf8'))[name];
    return claims && {
      accountId: name,
      claims: () => ({ sub: name, preferred_username: name, email: `${name}@example.org`, email_verified: true, ...claims }),
    };
  },
});

provider.on('server_error', (_, err) => console.error(err));
provider.listen(Number(at.port), at.hostname);
