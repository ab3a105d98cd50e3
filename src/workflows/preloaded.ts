/**
 * What every workflow of this bundle may share: pure modules, which hold no state. They are loaded once per worker and
 * not once per workflow, which is most of what starting a workflow costs.
 */
import '@noble/hashes/sha2';
import '@noble/hashes/utils';
import 'canonicalize';
import '../domain/tool-call-answer';
import '../domain/tool-call-machine';
import '../domain/tool-call-pending';
import '../domain/tool-call-state';
