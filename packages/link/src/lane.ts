import type { Lane, LinkMessage } from './link.ts';

/**
 * Which lane a message takes (L6). Data is what may be large and waits for the socket. What ends a
 * sequence of data is data too, or it would overtake it: an operator's stop, the Goodbye.
 * A RunRequest is control, so that its CancelRequest cannot overtake it and its RunBody cannot either; so is an
 * OperatorRequest, before its OperatorBody.
 */
export function laneOf(message: LinkMessage): Lane {
  switch (message.case) {
    case 'runEvents':
    case 'runBody':
    case 'operatorBody':
    case 'operatorUpdate':
    case 'operatorStop':
    case 'goodbye':
      return 'data';
    default:
      return 'control';
  }
}
