import type { Login, TestService } from './service.ts'

/** What clients read of dispatches and of what they cost, as the admin of "Demo" unless told. */
export type Reading = {
  dispatch: (dispatchId: string) => Promise<any>
  /** The timeline, as kinds with their service: `calling sms`. */
  timeline: (dispatchId: string) => Promise<string[]>
  /** The entries of one kind, in their order. */
  events: (dispatchId: string, kind: string) => Promise<any[]>
  credits: () => Promise<{ balance: number, held: number }>
  /** What the simulator has sent, the oldest first. */
  outbox: () => Promise<any[]>
  /** The types of the callbacks, in their order. */
  callbacks: (dispatchId: string) => Promise<string[]>
}

export function readingOf ({ send }: Pick<TestService, 'send'>, login?: Login): Reading {
  const get = async (path: string): Promise<any> => (await send('GET', path, {}, login)).body
  return {
    dispatch: (dispatchId) => get(`/api/v1/dispatches/${dispatchId}`),
    timeline: async (dispatchId) =>
      (await get(`/api/v1/dispatches/${dispatchId}/events?limit=100`)).data.map(({ kind, service = '' }: Record<string, string>) =>
        `${kind} ${service}`.trim()
      ),
    events: async (dispatchId, kind) =>
      (await get(`/api/v1/dispatches/${dispatchId}/events?limit=100`)).data.filter((event: { kind: string }) => event.kind === kind),
    async credits () {
      const { balance, held } = await get('/api/v1/credits')
      return { balance, held }
    },
    outbox: async () => (await get('/api/v1/simulator/outbox')).data.toReversed(),
    callbacks: async (dispatchId) =>
      (await get(`/api/v1/dispatches/${dispatchId}/callbacks?limit=100`)).data.map(({ type }: { type: string }) => type)
  }
}
