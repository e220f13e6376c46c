/** What a browser can do that no page of the service needs. Each name is one that browsers know: they complain of others. */
const unused = ['accelerometer', 'autoplay', 'browsing-topics', 'camera', 'clipboard-read', 'compute-pressure', 'display-capture',
  'encrypted-media', 'fullscreen', 'gamepad', 'geolocation', 'gyroscope', 'hid', 'identity-credentials-get', 'idle-detection',
  'local-fonts', 'magnetometer', 'microphone', 'midi', 'otp-credentials', 'payment', 'picture-in-picture', 'screen-wake-lock', 'serial',
  'storage-access', 'usb', 'window-management', 'xr-spatial-tracking']

/** What the console uses: passkeys, and buttons that copy. */
const used = ['clipboard-write', 'publickey-credentials-create', 'publickey-credentials-get']

const policy = (own: readonly string[], none: readonly string[]): string =>
  [...own.map((name) => `${name}=(self)`), ...none.map((name) => `${name}=()`)].join(', ')

/** The header `permissions-policy` of a page: of the console, or of any other. Nothing is allowed to a frame of another site. */
export const permissionsPolicies = { console: policy(used, unused), other: policy([], [...used, ...unused]) } as const
