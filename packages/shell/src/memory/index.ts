export { letHeapGrow, releaseMemory } from './memory.ts';
