/** Who the audit names when the service itself changes something. No key can have this owner. */
export const SERVICE_OWNER = 'portcullis';
