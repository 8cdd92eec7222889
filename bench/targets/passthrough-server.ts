import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Dispatcher, Pool } from 'undici';

const upstream = new Pool(`http://127.0.0.1:${process.argv[2]}`, {
  connections: null,
  keepAliveTimeout: 60_000,
});

const server = createServer({ noDelay: true }, (request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (bytes: Buffer) => pieces.push(bytes));
  request.on('end', () => relay(request, Buffer.concat(pieces), response));
});
server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.send?.({ port: address.port });
});
process.on('disconnect', () => process.exit(0));

function relay(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
  let control: Dispatcher.DispatchController | undefined;
  response.on('drain', () => control?.resume());
  response.on('close', () => {
    if (!response.writableFinished) control?.abort(new Error('the client went away'));
  });
  upstream.dispatch(
    {
      method: 'POST',
      path: request.url ?? '/',
      headers: { 'content-type': request.headers['content-type'] ?? 'application/json' },
      body,
    },
    {
      onRequestStart: (controller) => {
        control = controller;
      },
      onResponseStart: (_controller, status, headers) => {
        response.writeHead(status, pickHeaders(headers));
      },
      onResponseData: (controller, bytes) => {
        if (!response.write(bytes)) controller.pause();
      },
      onResponseEnd: () => {
        response.end();
      },
      onResponseError: () => {
        if (response.headersSent) response.destroy();
        else response.writeHead(502).end();
      },
    },
  );
}

function pickHeaders(headers: NodeJS.Dict<string | string[]>): Record<string, string | string[]> {
  const picked: Record<string, string | string[]> = {};
  for (const name of ['content-type', 'content-length', 'cache-control']) {
    const value = headers[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}
