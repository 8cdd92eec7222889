import type { Clock } from '@iop/domain';
import { encodeFrame, FrameDecoder, type FrameViolation, type WireMessage } from '@iop/wire';
import type { Transport } from './transport.ts';

/** Who reads a channel now: first the handshake, then the live link. */
export interface FrameReceiver {
  onFrame(body: Uint8Array): void;
  /** The peer broke the framing; nothing more will be read. */
  onViolation(violation: FrameViolation): void;
  onDrain(): void;
  /** Exactly once, the last call. */
  onClosed(reason: string): void;
}

/**
 * Frames over a transport. The receiver can change between two frames of one chunk, so nothing that
 * arrived together with the Welcome is lost.
 */
export class FrameChannel {
  readonly transport: Transport;
  readonly #decoder: FrameDecoder;
  #receiver: FrameReceiver | undefined;

  constructor(transport: Transport, limitBytes: number) {
    this.transport = transport;
    this.#decoder = new FrameDecoder(limitBytes);
  }

  start(receiver: FrameReceiver): void {
    this.#receiver = receiver;
    const onFrame = (body: Uint8Array): void => this.#receiver?.onFrame(body);
    this.transport.start({
      onBytes: (bytes) => {
        if (this.#receiver === undefined) return;
        const violation = this.#decoder.push(bytes, onFrame);
        if (violation !== undefined) this.#receiver?.onViolation(violation);
      },
      onDrain: () => this.#receiver?.onDrain(),
      onClosed: (reason) => {
        const last = this.#receiver;
        this.#receiver = undefined;
        last?.onClosed(reason);
      },
    });
  }

  /** From the next frame on. */
  handOver(receiver: FrameReceiver, limitBytes: number): void {
    this.#receiver = receiver;
    this.#decoder.limitBytes = limitBytes;
  }

  /** At once, in a write of its own: for the handshake. */
  write(message: WireMessage): void {
    this.transport.write([encodeFrame(message)]);
  }

  /** Nothing is received any more; what was written may leave for `deadlineMs`, then the transport is destroyed. */
  endWithin(deadlineMs: number, clock: Clock): void {
    const { transport } = this;
    const ignore = (): void => {};
    const onClosed = clock.after(deadlineMs, () => transport.destroy());
    this.#receiver = { onFrame: ignore, onViolation: ignore, onDrain: ignore, onClosed };
    transport.end();
  }

  /** Nothing is received any more, not even `onClosed`. */
  release(): void {
    this.#receiver = undefined;
  }
}

export function describeViolation(violation: FrameViolation): { code: string; reason: string } {
  if (violation.kind === 'empty-frame') return { code: 'wire.empty-frame', reason: 'a frame of 0 bytes' };
  const { sizeBytes, limitBytes } = violation;
  return {
    code: 'wire.frame-too-large',
    reason: `a frame of ${sizeBytes} bytes; the limit is ${limitBytes}`,
  };
}
