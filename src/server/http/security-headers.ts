import helmet from 'helmet';

/** Answers are data: nothing in them may be executed, framed or sniffed. A route that serves a page sets its own policy. */
export const securityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  xFrameOptions: { action: 'deny' },
});
