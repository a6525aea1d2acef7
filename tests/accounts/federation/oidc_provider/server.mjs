// The reference implementation of an OpenID provider, with a client and people who may be anybody.
// Prints the address that it listens on. Configuration: CLIENT, SECRET, CALLBACK, BACK, LOGOUT.
import http from 'node:http';
import Provider from 'oidc-provider';

const { CLIENT, SECRET, CALLBACK, BACK, LOGOUT, PORT } = process.env;
const issuer = `http://127.0.0.1:${PORT}`;
const provider = new Provider(issuer, {
  clients: [{
    client_id: CLIENT,
    client_secret: SECRET,
    redirect_uris: [CALLBACK],
    post_logout_redirect_uris: [BACK],
    backchannel_logout_uri: LOGOUT,
    backchannel_logout_session_required: true,
  }],
  features: {
    devInteractions: { enabled: true },
    backchannelLogout: { enabled: true },
    rpInitiatedLogout: { enabled: true },
  },
  pkce: { required: () => true },
  claims: { email: ['email'], profile: ['preferred_username'] },
  // Its own refuses addresses of this machine, and the client to be told of logouts is here.
  fetch: (url, { dispatcher, ...options }) => fetch(url, options),
  conformIdTokenClaims: false,
  findAccount: (ctx, id) => ({
    accountId: id,
    claims: () => ({ sub: id, preferred_username: id, email: `${id}@example.com` }),
  }),
});
provider.on('backchannel.error', (ctx, error) => console.error(error));
http.createServer(provider.callback()).listen(Number(PORT), '127.0.0.1', () => console.log(issuer));
