import { reconnectTest } from './testing/reconnect-scene.ts';

reconnectTest(10_000);
