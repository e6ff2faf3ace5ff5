// What the official suite starts as a client. The client itself runs in the test, which has loaded it once.
import { connect } from 'node:net';

const [socket = '', url = ''] = process.argv.slice(2);
const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
// Without an answer it has failed.
process.exitCode = 1;
let answer = '';
connect(socket)
  .setEncoding('utf8')
  .on('data', (text) => (answer += text))
  .on('end', () => {
    const { isGood, told } = JSON.parse(answer);
    process.stderr.write(told);
    process.exitCode = isGood ? 0 : 1;
  })
  .write(`${JSON.stringify({ url, scenario, context: JSON.parse(context) })}\n`);
