// Loaded into every measured process before its own code: tells what it has used when it is asked.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  const residentBytes = process.memoryUsage.rss();
  process.send?.({ usage: { cpuSeconds: (user + system) / 1e6, residentBytes } });
});
process.channel?.unref();
