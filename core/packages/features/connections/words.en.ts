export const words = {
  connection: 'Connection',
  connectIntro: 'The vendor asks whoever has the account there for permission. Register this address at the vendor first.',
  connectConfirm: 'Connect the account at the vendor with your company? Go on only if you have begun this yourself.',
  connect: 'Connect',
  connectAgain: 'Connect again',
  connectOneself: 'You act as somebody else. Only users themselves connect an account at a vendor.',
  connectedAt: 'Connected since',
  redirectUri: 'Redirect URI',
  disconnectIntro: 'Without the connection this provider can send nothing.',
  disconnect: 'Disconnect',
  connection_connected: 'connected',
  connection_not_connected: 'not connected',
  connection_ended: 'ended by the vendor'
}
