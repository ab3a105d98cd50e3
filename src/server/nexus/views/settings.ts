import { z } from 'zod';
import { DEFAULT_SETTINGS } from '../../../domain/settings';

export const settingsSchema = z
  .strictObject({
    defaultHooks: z.enum(['auto', 'manual']).default(DEFAULT_SETTINGS.defaultHooks).meta({
      description:
        'Whether a newer set of default hooks reaches the profiles that follow it when the service starts.',
    }),
    operatorSignal: z.boolean().default(DEFAULT_SETTINGS.operatorSignal).meta({
      description:
        'Whether a signal from the Temporal UI or command line may resolve waits. A call keeps what held at its start.',
    }),
  })
  .meta({ id: 'Settings' });
