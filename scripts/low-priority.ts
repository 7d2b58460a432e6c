// Loaded into test processes that run in the background: they use what the tests beside them leave of the processors.

import { constants, setPriority } from 'node:os'
import { isMainThread } from 'node:worker_threads'

// Processes and threads that a test starts inherit the priority.
if (isMainThread) setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
