<?php
/**
 * Sends an invoice, and verifies callbacks. PHP 8.0 or later, without any package.
 *
 *     DISPATCH_URL=https://dispatch.example.com DISPATCH_KEY=dk_live_... php dispatch.php send order-1001 < invoice.json
 *     php dispatch.php verify <webhook-id> <webhook-timestamp> <webhook-signature> <secret> < body
 */
declare(strict_types=1);

const TRIES = 4;

/** Dispatches an invoice. The same key with each try, also of a later run, makes one dispatch of it. */
function send(string $request, string $idempotencyKey): string
{
    for ($attempt = 1;; $attempt++) {
        $context = stream_context_create(['http' => [
            'method' => 'POST',
            'header' => [
                'Authorization: Bearer ' . getenv('DISPATCH_KEY'),
                'Content-Type: application/json',
                "Idempotency-Key: $idempotencyKey",
            ],
            'content' => $request,
            'timeout' => 130,
            'ignore_errors' => true,
            // A redirect would make a GET of a POST, elsewhere.
            'follow_location' => 0,
        ]]);
        $http_response_header = [];
        $body = @file_get_contents(getenv('DISPATCH_URL') . '/api/invoicing', false, $context);
        $head = implode("\n", $http_response_header);
        // 0: no connection, or one that was cut. What was sent is not sent again, because the key is the same.
        $status = $body !== false && preg_match('{^HTTP/\S+ (\d{3})}', $head, $found) ? (int) $found[1] : 0;
        $isDone = $status >= 200 && $status < 300;
        $answer = json_decode((string) $body, true);
        if ($isDone && (isset($answer['dispatchId']) || isset($answer['statusUrl']))) {
            return $body;
        }
        // Not now, still under way, or a page of a proxy: anything else stays as it is, however often it is asked.
        $passes = $isDone || in_array($status, [0, 429, 503, 504], true)
            || $status === 409 && str_contains((string) $body, 'idempotency_in_progress');
        if (!$passes || $attempt === TRIES) {
            throw new RuntimeException("$status: $body. Repeat it under the key $idempotencyKey alone.");
        }
        $pause = preg_match('{^Retry-After: *(\d+)}mi', $head, $found) ? (int) $found[1] : 2 ** $attempt;
        sleep(min($pause, 60));
    }
}

/** Whether a callback is the service's (Standard Webhooks), and not older than five minutes. Give it the body as it came. */
function verify(string $body, string $id, string $timestamp, string $signatures, string $secret): bool
{
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret));
    $wanted = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    $fits = array_filter(explode(' ', $signatures), fn (string $given): bool => hash_equals($wanted, $given)) !== [];
    return $fits && abs(time() - (int) $timestamp) <= 300;
}

if (PHP_SAPI === 'cli') {
    $input = stream_get_contents(STDIN);
    if ($argv[1] === 'send') {
        echo send($input, $argv[2]), "\n";
    } elseif (!verify($input, $argv[2], $argv[3], $argv[4], $argv[5])) {
        fwrite(STDERR, "This is no callback of the service: answer it with 400.\n");
        exit(1);
    }
}
