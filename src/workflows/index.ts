export { reconcile } from './reconcile';
export { toolCall } from './call/tool-call';
