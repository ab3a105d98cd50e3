/** Something that whoever starts the process can mend. The message says how; it needs no stack and holds no secret. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}
