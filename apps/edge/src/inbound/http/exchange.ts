import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Clock } from '@iop/domain';
import type { Log, LogFields } from '@iop/shell';
import type { RunPlace } from '../../core/door.ts';
import type { AnswerStyle } from './answer-style.ts';
import { canFrame, frameChunk, joinPieces } from './chunk-framing.ts';
import type { Client, ClientOf } from './client.ts';
import type { ConnectionWatch, Watched } from './connection-watch.ts';
import type { Cors } from './cors.ts';
import type { HttpTimes } from './http-config.ts';
import type { RouteMeter } from './http-meter.ts';
import { pushPlace } from './place-headers.ts';
import { type Refusal, refusalHeaders } from './refusal.ts';
import { discardBody, isBodyLeft } from './request-body.ts';

/** What all exchanges of one port share. */
export interface ExchangeHost {
  readonly clock: Clock;
  readonly log: Log;
  readonly times: HttpTimes;
  readonly cors: Cors;
  readonly watch: ConnectionWatch;
  readonly clientOf: ClientOf;
  /** No further request on this connection, please. */
  readonly closing: boolean;
  /** Called when that begins. */
  readonly closers: Set<() => void>;
}

export interface ExchangeInit {
  meter: RouteMeter;
  requestId: string;
  req: IncomingMessage;
  res: ServerResponse;
  style: AnswerStyle;
}

/** More than this may not fit the kernel's buffer, so its leaving has to be watched. */
const surelySentBytes = 16 * 1024;

/** Up to here the head and the body leave in one string more cheaply than in two buffers. */
const joinedBytes = 4096;

/**
 * One request and its one answer.
 *
 * X1: `onGone` is called at most once, at once, and never after `end`.
 * X2: every answer carries `x-request-id`, and the run and the Node as soon as they are known.
 */
export class Exchange implements Watched {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
  runId: string | undefined;
  /** Its idempotency key had started that run before. */
  isRepeat = false;
  /** Where its run was sent last. */
  place: RunPlace | undefined;
  onGone: () => void = nothing;
  readonly #host: ExchangeHost;
  readonly #meter: RouteMeter;
  readonly #style: AnswerStyle;
  readonly #startedMs: number;
  #over = false;
  #hasWritten = false;

  constructor(host: ExchangeHost, init: ExchangeInit) {
    this.#host = host;
    this.req = init.req;
    this.res = init.res;
    this.#meter = init.meter;
    this.#style = init.style;
    this.requestId = init.requestId;
    this.#startedMs = host.clock.now();
    host.watch.add(init.req.socket, this);
  }

  get hasBegun(): boolean {
    return this.res.headersSent;
  }

  get isOver(): boolean {
    return this.#over;
  }

  get client(): Client {
    return this.#host.clientOf(this.req);
  }

  /** Fixes status and head; they leave with the first bytes of the body. */
  writeHead(status: number, fields: readonly string[]): void {
    const head = ['x-request-id', this.requestId, ...fields];
    const { requestIdHeader } = this.#style;
    if (requestIdHeader !== undefined) head.push(requestIdHeader, this.requestId);
    if (this.runId !== undefined) head.push('x-iop-run', this.runId);
    if (this.isRepeat) head.push('idempotent-replayed', 'true');
    if (this.place !== undefined) pushPlace(head, this.place);
    head.push(...this.#host.cors.headers(this.req));
    if (this.#host.closing && !fields.includes('connection')) head.push('connection', 'close');
    this.res.writeHead(status, head);
  }

  /**
   * Bytes of an answer whose end is not known yet.
   *
   * @param drained called once, when false was returned and the connection has room again
   * @returns false: the connection is full
   */
  write(pieces: readonly Uint8Array[], drained: () => void): boolean {
    const frame = this.#hasWritten && canFrame(this.res) ? frameChunk(pieces) : undefined;
    if (!this.#hasWritten) this.#meter.firstByte(this.#host.clock.now() - this.#startedMs);
    this.#hasWritten = true;
    const sink = frame === undefined ? this.res : this.req.socket;
    const hasRoom =
      frame === undefined ? this.res.write(joinPieces(pieces)) : writeAll(this.req.socket, frame);
    if (!hasRoom) sink.once('drain', drained);
    return hasRoom;
  }

  /** A whole answer: its length is known, so nobody can take a part of it for all. */
  answer(status: number, fields: readonly string[], body: string | Uint8Array): void {
    if (this.#over) return;
    this.writeHead(status, [...fields, 'content-length', String(Buffer.byteLength(body))]);
    this.end(body);
  }

  /** An answer that has no body by its nature. */
  empty(status: 204, fields: readonly string[]): void {
    this.writeHead(status, fields);
    this.end();
  }

  json(status: number, value: unknown, fields: readonly string[] = []): void {
    this.answer(status, ['content-type', 'application/json', ...fields], JSON.stringify(value));
  }

  refuse(refusal: Refusal): void {
    if (this.#over) return;
    const body = this.#style.encodeError(refusal, this.requestId);
    const fields = ['content-type', 'application/json', ...refusalHeaders(refusal)];
    if (refusal.close !== true && !isBodyLeft(this.req)) {
      this.answer(refusal.status, fields, body);
      return;
    }
    // The whole answer is sent but not ended: the connection stays open to swallow what the caller is
    // still sending, because closing on unread bytes resets it before the answer was read.
    this.writeHead(refusal.status, [
      ...fields,
      'content-length',
      String(Buffer.byteLength(body)),
      'connection',
      'close',
    ]);
    this.res.write(body);
    this.#close(refusal.status);
    discardBody(this.req, this.#host.clock, () => this.res.end());
  }

  /** The answer is whole, as far as this side is concerned. */
  end(last?: string | Uint8Array): void {
    if (this.#over) return;
    if (last instanceof Uint8Array && last.length <= joinedBytes) this.res.end(toLatin1(last), 'latin1');
    else this.res.end(last);
    this.#close(this.res.statusCode);
    const { socket } = this.req;
    if ((last?.length ?? 0) + socket.writableLength > surelySentBytes) this.#cutUnread();
  }

  /** The answer cannot be made whole any more and must not look it. */
  cut(): void {
    if (this.#over) return;
    this.#close(this.res.statusCode);
    cutSocket(this.req.socket);
  }

  callerGone(): void {
    if (this.#over) return;
    this.#over = true;
    this.#meter.callerGone();
    this.#host.log.debug(this.labels(), 'the caller went away');
    this.onGone();
  }

  /** What finds it again in a log. */
  labels(): LogFields {
    const { requestId, runId, place } = this;
    return {
      route: this.#meter.route,
      requestId,
      client: this.client.address,
      ...(runId !== undefined && { runId }),
      ...(place !== undefined && { node: place.node }),
    };
  }

  #close(status: number): void {
    const { watch, log, clock } = this.#host;
    this.#over = true;
    watch.delete(this.req.socket, this);
    const tookMs = clock.now() - this.#startedMs;
    this.#meter.answered(status, tookMs);
    log.debug({ ...this.labels(), status, tookMs }, 'answered');
  }

  /** A caller that never reads must not hold memory for ever. */
  #cutUnread(): void {
    const cancel = this.#host.clock.after(this.#host.times.unreadMs, () => this.req.socket.destroy());
    this.res.once('close', cancel);
  }
}

/** In one go. False: the socket is full. */
function writeAll(socket: Socket, buffers: readonly Uint8Array[]): boolean {
  const [first] = buffers;
  if (buffers.length === 1 && first !== undefined) return socket.write(first);
  let hasRoom = true;
  socket.cork();
  for (const buffer of buffers) hasRoom = socket.write(buffer);
  socket.uncork();
  return hasRoom;
}

/** Every byte as the character of that number, so that nothing of it changes. */
function toLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** A reset says most clearly that this is no end; over TLS the missing last chunk says it. */
function cutSocket(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

function nothing(): void {}
