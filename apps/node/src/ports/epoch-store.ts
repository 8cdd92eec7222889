/** Remembers the highest epoch of this Node's links over restarts, so that none is ever used twice. */
export interface EpochStore {
  readonly lastEpoch: number;
  rememberEpoch(epoch: number): void;
}
