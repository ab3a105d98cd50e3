export { reconcile } from './reconcile';
export { toolCall } from './call/tool-call';
export { textGate } from './call/text-gate';
export { turn } from './turn/turn';
