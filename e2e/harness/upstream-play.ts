import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ChatBody,
  chatAnswer,
  contentChunk,
  finishChunk,
  type StreamEnd,
  type UpstreamAct,
  usageChunk,
} from './upstream-act.ts';

interface Stage {
  body: ChatBody;
  response: ServerResponse;
  /** A chunk was written. */
  sent(): void;
  closed(): boolean;
}

type StreamAct = Extract<UpstreamAct, { kind: 'stream' }>;

/** Answers one chat request as the act says; returns early when the other side hangs up. */
export async function playAct(act: UpstreamAct, stage: Stage): Promise<void> {
  const { response } = stage;
  switch (act.kind) {
    case 'hang':
      return;
    case 'drop':
      response.socket?.destroy();
      return;
    case 'bytes':
      response.writeHead(act.status, { 'content-type': 'application/json', ...act.headers });
      response.end(act.body);
      return;
    case 'json':
      await sleep(act.delayMs ?? 0);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(chatAnswer(act.content)));
      return;
    case 'flood':
      openStream(response);
      return await pour(stage, act.sizeBytes, Buffer.alloc(1 << 20, 'x'));
    case 'torrent':
      openStream(response);
      await pour(stage, act.sizeBytes, Buffer.from(event(contentChunk('y'.repeat(16_000))).repeat(16)));
      if (!stage.closed()) endStream('done', stage);
      return;
    case 'stream':
      return await playStream(act, stage);
  }
}

async function playStream(act: StreamAct, stage: Stage): Promise<void> {
  await sleep(act.delayMs ?? 0);
  openStream(stage.response);
  for (const chunk of act.chunks) {
    if (stage.closed()) return;
    stage.response.write(event(typeof chunk === 'string' ? contentChunk(chunk) : chunk));
    stage.sent();
    if (act.paceMs !== undefined) await sleep(act.paceMs);
  }
  if (!stage.closed()) endStream(act.end ?? 'done', stage);
}

function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
}

function endStream(how: StreamEnd, { response, body }: Stage): void {
  switch (how) {
    case 'hang':
      return;
    case 'cut':
      response.socket?.end();
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'end-early':
      response.end();
      return;
    case 'bad-json':
      response.end('data: {"choices":[{"delta":{"content":\n\ndata: [DONE]\n\n');
      return;
    case 'done':
      response.write(event(finishChunk));
      if (body.stream_options?.include_usage === true) response.write(event(usageChunk));
      response.end('data: [DONE]\n\n');
  }
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

async function pour(stage: Stage, sizeBytes: number, piece: Buffer): Promise<void> {
  for (let sent = 0; sent < sizeBytes && !stage.closed(); sent += piece.length) {
    if (stage.response.write(piece)) continue;
    await roomOrClose(stage.response);
  }
}

function roomOrClose(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
