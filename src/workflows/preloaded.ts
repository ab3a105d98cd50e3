/**
 * What every workflow of this bundle may share: pure modules, which hold no state. They are loaded once per worker and
 * not once per workflow, which is most of what starting a workflow costs.
 */
import '@noble/hashes/sha2';
import '@noble/hashes/utils';
import 'canonicalize';
import '../domain/call-answer';
import '../domain/call-machine';
import '../domain/call-pending';
import '../domain/call-state';
