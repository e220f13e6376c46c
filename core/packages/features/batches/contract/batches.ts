import { ProblemReason, ProblemSchema, UuidPageQuery } from '@dispatch/contract'
import { type Static, Type } from 'typebox'

export type { BatchView } from '@dispatch/contract'

const closed = { additionalProperties: false } as const

/** How a batch is sent. */
export const BatchQuery = Type.Object({
  service: Type.String({
    maxLength: 100,
    description: 'The services of each row, as in the path of a dispatch.',
    examples: ['invoicing/email']
  }),
  mode: Type.Optional(
    Type.Enum(['all', 'valid'], {
      default: 'all',
      description: 'all: a row with a fault refuses the batch. valid: the rows without one are sent.'
    })
  ),
  callbackUrl: Type.Optional(
    Type.String({ maxLength: 2048, format: 'https-url', description: 'An https:// URL, which is told at each tenth and at the end.' })
  ),
  sandbox: Type.Optional(Type.Boolean({ default: false, description: 'true: as for a dispatch.' })),
  strict: Type.Optional(Type.Boolean({ default: false, description: 'true: a row with a warning has a fault.' })),
  hold: Type.Optional(Type.Boolean({ default: false, description: 'true: once it is checked it is `paused`; `…/resume` sends it.' }))
}, closed)
export type BatchQuery = Static<typeof BatchQuery>

/** Which batches are listed. */
export const BatchListQuery = Type.Object({
  ...UuidPageQuery.properties,
  test: Type.Optional(Type.Boolean({ description: 'Only tests, or none; since version 1.1.0.' }))
}, closed)

/** The JSON type of a cell of a CSV file. */
export const cellTypes = ['text', 'number', 'boolean', 'json'] as const

/** Where the cells of a column stand in the body of a dispatch. */
export const Target = Type.Union([
  Type.String({ maxLength: 300, description: 'A JSON pointer into the body; `/id` is the id of the row.' }),
  Type.Object({ pointer: Type.String({ maxLength: 300 }), type: Type.Enum(cellTypes) }, closed)
])

/** The columns of a CSV file by their names. What is not named is not sent. */
export const Mapping = Type.Record(Type.String({ maxLength: 300 }), Target, {
  maxProperties: 1000,
  minProperties: 1,
  title: 'BatchMapping',
  examples: [{
    Number: '/template/data/invoiceNumber',
    Amount: { pointer: '/template/data/total', type: 'number' },
    Mail: '/email/to'
  }]
})
export type Mapping = Static<typeof Mapping>

/** The form of a batch, as it is documented. The texts come before the file. */
export const BatchForm = Type.Object({
  common: Type.Optional(
    Type.String({
      description: 'A JSON object: the body that all rows have in common. A row changes it (JSON Merge Patch, RFC 7396).',
      examples: ['{"template":{"id":1},"email":{"from":"billing@acme.example"}}']
    })
  ),
  mapping: Type.Optional(
    Type.String({
      description: 'A JSON object: columns and the JSON pointers of their cells. Without it, the columns are named by pointers.',
      examples: ['{"Number":"/template/data/invoiceNumber","Amount":{"pointer":"/template/data/total","type":"number"}}']
    })
  ),
  file: Type.String({ format: 'binary' })
}, { title: 'BatchForm' })

/** The states of a row. `waiting`: it was checked, and is not sent yet. `refused`: no dispatch was made of it. */
export const rowStates = ['unchecked', 'waiting', 'running', 'succeeded', 'failed', 'partial', 'uncertain', 'cancelled', 'refused'] as const

/** Why no dispatch was made of a row. */
export const RowProblem = Type.Object({
  error: Type.String(),
  message: Type.String(),
  reason: ProblemReason,
  details: Type.Optional(Type.Array(ProblemSchema))
}, { title: 'BatchRowProblem' })
export type RowProblem = Static<typeof RowProblem>

/** A row in the results. */
export const ResultView = Type.Object({
  row: Type.Integer({ minimum: 1, description: 'Its number; 1 is the first after the heading, or after the common body.' }),
  id: Type.Optional(Type.String()),
  status: Type.Enum(rowStates),
  dispatchId: Type.Optional(Type.String({ format: 'uuid' })),
  problem: Type.Optional(RowProblem)
}, { title: 'BatchResult' })
export type ResultView = Static<typeof ResultView>

/** Which rows, and how they are written. */
export const ResultsQuery = Type.Object({
  format: Type.Optional(Type.Enum(['ndjson', 'csv'], { default: 'ndjson' })),
  status: Type.Optional(Type.Enum(['failed', 'refused'], { description: 'Only these rows.' }))
}, closed)
