import { defineRoute, type NexusRoute } from '../define-route';
import { requireWholeTenant } from '../profile-access';
import { settingsSchema, settingsView } from '../views/settings';

export function createSettingsRoutes(): NexusRoute[] {
  return [readSettings, writeSettings];
}

const readSettings = defineRoute({
  method: 'GET',
  path: '/v1/settings',
  operationId: 'readSettings',
  summary: "Read the tenant's settings",
  tags: ['settings'],
  auth: { scopes: ['admin'] },
  responses: { 200: { description: 'All settings', schema: settingsSchema } },
  handler: async ({ principal }) => {
    requireWholeTenant(principal);
    return { status: 200, body: settingsView(await principal.store.settings.read()) };
  },
});

const writeSettings = defineRoute({
  method: 'PUT',
  path: '/v1/settings',
  operationId: 'writeSettings',
  summary: "Replace the tenant's settings",
  description: 'A setting that is left out returns to its default.',
  tags: ['settings'],
  auth: { scopes: ['admin'] },
  body: settingsSchema,
  responses: { 200: { description: 'All settings', schema: settingsSchema } },
  handler: async ({ body, principal }) => {
    requireWholeTenant(principal);
    await principal.store.settings.write(body);
    return { status: 200, body: settingsView(body) };
  },
});
