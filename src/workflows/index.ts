export { reconcile } from './reconcile';
export { toolCall } from './tool-call/tool-call';
