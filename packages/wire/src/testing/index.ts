export { createRandom, type Random } from './random.ts';
export { randomMessage, randomOf } from './random-message.ts';
