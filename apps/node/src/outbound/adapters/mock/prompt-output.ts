import type { RuntimeEvent } from '@iop/runtime';
import type { MockOutput } from './mock-output.ts';
import type { MockPiece } from './mock-pieces.ts';

/** Typed events for a caller that gave a plain prompt. */
export class PromptOutput implements MockOutput {
  begin(): RuntimeEvent[] {
    return [];
  }

  piece(piece: MockPiece): RuntimeEvent[] {
    switch (piece.kind) {
      case 'text':
      case 'reasoning':
        return [piece];
      case 'tool-call':
        return [{ ...piece, argumentsJson: '' }];
      case 'tool-arguments':
        return [{ kind: 'tool-call', index: piece.index, id: piece.id, name: '', argumentsJson: piece.text }];
    }
  }

  garbage(): RuntimeEvent[] {
    return [{ kind: 'log', stream: 'stderr', bytes: Buffer.from('this is not what was asked for\n') }];
  }

  end(): RuntimeEvent[] {
    return [];
  }
}
