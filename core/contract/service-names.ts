/** The services, by their names in the path, in the order in which they are listed. */
export const serviceNames = ['invoicing', 'esign', 'postal', 'sms', 'email', 'file', 'upload'] as const
export type ServiceName = typeof serviceNames[number]

export function isServiceName (name: string): name is ServiceName {
  return (serviceNames as readonly string[]).includes(name)
}
