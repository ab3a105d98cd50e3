export type SemanticVersion = readonly [major: number, minor: number, patch: number];

/** The first `x.y` or `x.y.z` in the text. */
export function parseVersion(text: string): SemanticVersion | undefined {
  const match = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)] : undefined;
}

export function compareVersions(left: SemanticVersion, right: SemanticVersion): number {
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}

export function formatVersion(version: SemanticVersion): string {
  return version.join('.');
}
