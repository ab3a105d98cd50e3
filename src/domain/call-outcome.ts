import type { Transition } from './transition';

/** A reply that needs no step, or a step and what to reply once it is stored. */
export type Outcome<Reply> =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'step'; readonly transition: Transition; readonly reply: Reply };
