/** Of all programs: they are built and released together. The wire has a version of its own. */
export const version = '0.1.0';
