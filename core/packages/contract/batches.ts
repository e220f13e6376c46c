import { Uuid } from '@dispatch/common'
import { type Static, Type } from 'typebox'
import { Timestamp } from './common.ts'
import { ProblemReason } from './response.ts'

/**
 * The states of a batch. `checking`: its rows are being checked, and nothing is sent. `queued`: they were checked. `running`: rows are
 * being sent. `refused`: nothing of it is sent.
 */
const batchStatuses = ['checking', 'queued', 'running', 'paused', 'finished', 'cancelled', 'refused'] as const

const Count = Type.Integer({ minimum: 0 })

const Counts = Type.Object({
  total: Count,
  unchecked: Count,
  waiting: Type.Integer({ minimum: 0, description: 'Checked, and not sent yet.' }),
  running: Type.Integer({ minimum: 0, description: 'Their dispatches are queued or running.' }),
  succeeded: Count,
  failed: Count,
  partial: Count,
  uncertain: Count,
  cancelled: Count,
  refused: Type.Integer({ minimum: 0, description: 'No dispatch was made of them: the results say why.' })
}, { title: 'BatchCounts', description: 'How many rows are in each state.' })

/** A batch as a client reads it. */
export const BatchView = Type.Object({
  batchId: Uuid,
  status: Type.Enum(batchStatuses),
  service: Type.String({ examples: ['invoicing/email'] }),
  mode: Type.Enum(['all', 'valid']),
  test: Type.Boolean({ description: 'Sent with a test key, or for test environments.' }),
  counts: Counts,
  credits: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: 'The price of all rows that were not refused; null until they are checked.'
  }),
  problem: Type.Optional(
    Type.Object({ error: Type.String(), message: Type.String(), reason: ProblemReason }, {
      title: 'BatchProblem',
      description: 'Why it was refused, or has paused by itself.'
    })
  ),
  createdAt: Timestamp,
  finishedAt: Type.Union([Timestamp, Type.Null()])
}, {
  title: 'Batch'
})
export type BatchView = Static<typeof BatchView>
