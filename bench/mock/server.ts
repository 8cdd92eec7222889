/**
 * The upstream that everything is measured against: an OpenAI-dialect server on bare sockets, so that it
 * costs as little as Node can. Runs as a process of its own and says its port by IPC.
 *
 *   POST /v1/chat/completions   answers at once, or streams by the script in the prompt (see script.ts)
 *   POST /v1/embeddings         one large answer, as base64 or as floats
 *   GET  /v1/models             one model, `bench`
 *   GET  /bench/stats           frames sent and how late they were, since the last look
 *   POST /bench/finish          endless streams end with their next frame
 */
import { createServer, type Socket } from 'node:net';
import { HttpParser } from '../http/http-parser.ts';
import { json, jsonAnswer, modelsAnswer, notFoundAnswer } from './answers.ts';
import { embeddingsAnswer } from './embeddings.ts';
import { Pacer } from './pacer.ts';
import { parseScript } from './script.ts';
import { MockStream } from './stream.ts';

const pacer = new Pacer();
const streams = new Set<MockStream>();

const server = createServer({ noDelay: true }, serveConnection);
server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.send?.({ port: address.port });
});
process.on('disconnect', () => process.exit(0));

function serveConnection(socket: Socket): void {
  let path = '';
  let pieces: Buffer[] = [];
  const parser = new HttpParser('request', {
    head: (head) => {
      path = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/'));
      pieces = [];
    },
    body: (bytes) => pieces.push(bytes),
    end: () => answer(socket, path, pieces.length === 1 ? (pieces[0] ?? empty) : Buffer.concat(pieces)),
  });
  socket.on('data', (bytes: Buffer) => {
    try {
      parser.push(bytes);
    } catch {
      socket.destroy();
    }
  });
  socket.on('error', () => socket.destroy());
}

const empty = Buffer.alloc(0);

function answer(socket: Socket, path: string, body: Buffer): void {
  if (path === '/v1/chat/completions') {
    answerChat(socket, body);
  } else if (path === '/v1/embeddings') {
    socket.write(embeddingsAnswer(body));
  } else if (path === '/v1/models') {
    socket.write(modelsAnswer);
  } else if (path === '/bench/stats') {
    socket.write(json({ ...pacer.takeStats(), open: streams.size }));
  } else if (path === '/bench/finish') {
    for (const stream of streams) stream.finish();
    socket.write(json({ finishing: streams.size }));
  } else {
    socket.write(notFoundAnswer);
  }
}

function answerChat(socket: Socket, body: Buffer): void {
  if (!body.includes('"stream":true')) {
    socket.write(jsonAnswer);
    return;
  }
  const includeUsage = body.includes('"include_usage":true');
  const stream = new MockStream(socket, {
    script: parseScript(body),
    includeUsage,
    onOver: () => streams.delete(stream),
  });
  streams.add(stream);
  stream.start(pacer);
}
