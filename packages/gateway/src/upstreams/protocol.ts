// Everything that needs the SDK of the protocol, which takes a tenth of a second to load: imported with the first server.
export { describeTrouble } from './describe-trouble.ts';
export { explainStart } from './explain-start.ts';
export { PersonLogin } from './login/person-login.ts';
export { openTransport } from './transport/open-transport.ts';
export { UpstreamConnection } from './upstream-connection.ts';
