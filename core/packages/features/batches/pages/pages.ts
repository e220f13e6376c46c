import type { FastifyPluginAsync } from 'fastify'
import { batchPages } from './batch.ts'
import { newBatchPages } from './new-batch.ts'

/** The pages of batches. */
export const batchesPages: FastifyPluginAsync = async (app) => {
  await app.register(newBatchPages)
  await app.register(batchPages)
}
