/**
 * For all services: however long the database or all workers are away. After the server's own count of attempts (70) a
 * turn would stand still until somebody resumes it by hand.
 */
export const FOR_EVER = {
  ...{ initialInterval: 50, exponentiationFactor: 2, maxInterval: 10_000 },
  maxAttempts: 2 ** 31 - 1,
} as const;
