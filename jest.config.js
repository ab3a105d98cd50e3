'use strict';

/** One set-up starts one Temporal dev server and one Valkey for the whole run; every test file takes its own tenant and task queue. */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  transform: {
    '^.+\\.[jt]s$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } } }],
  },
  // It has no CommonJS, which Node needs no help with and jest does.
  transformIgnorePatterns: ['/node_modules/(?!jose/)'],
  testTimeout: 60_000,
  maxWorkers: 2,
};
