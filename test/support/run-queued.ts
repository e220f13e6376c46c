import type { Pipeline } from '@dispatch/core'

/** Runs those of the queued dispatches that no other run has. Resolves when they have ended; rejects when one failed. */
export async function runQueued (
  pipeline: Pick<Pipeline, 'beginQueued'>,
  ...dispatches: Parameters<Pipeline['beginQueued']>[0]
): Promise<void> {
  await Promise.all((await pipeline.beginQueued(dispatches)).map(({ ended }) => ended))
}
