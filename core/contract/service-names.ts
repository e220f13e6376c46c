/** The services, by the names that paths use, in the order of every list. */
export const serviceNames = ['invoicing', 'esign', 'postal', 'sms', 'email', 'file', 'upload'] as const
export type ServiceName = typeof serviceNames[number]

export function isServiceName (name: string): name is ServiceName {
  return (serviceNames as readonly string[]).includes(name)
}
