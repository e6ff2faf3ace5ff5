/**
 * Perl, because it is small: to fork Node takes milliseconds, in which Node does nothing else. Here a child can also be
 * put under its limits without a further program. Every Debian has this interpreter.
 *
 * It reads orders, each a length of four bytes and then fields with NULs between them, and reports in lines. A child
 * opens its descriptors again from those of the process that ordered it, which keeps them until the report. Only the
 * helper kills its children: as long as it has not waited for one, no other process can have its number.
 *
 * A seat is a child that was forked ahead and waits for the order that says what it becomes, so that there is time to
 * put it into a control group before. It becomes one process and is never used again.
 */
export const startForOthers = String.raw`
use strict;
use warnings;

my ($orderer, $PRCTL, $SIGPROCMASK, $SIGNALFD, $OPENAT, $CLOSE, $WRITE, $DUP3, $FCNTL, $SETSID, $SETGROUPS,
  $SETRESGID, $SETRESUID, $SETRLIMIT) = map { $_ + 0 } @ARGV;
my ($PR_SET_PDEATHSIG, $PR_SET_CHILD_SUBREAPER, $SIG_BLOCK, $SIG_SETMASK, $WNOHANG) = (1, 36, 0, 2, 1);
my ($SIGKILL, $SIGPIPE, $SIGCHLD, $ESRCH) = (9, 13, 17, 3);
# The same everywhere.
my ($PIDFD_OPEN, $PROCESS_MRELEASE) = (434, 448);
my ($AT_FDCWD, $O_CLOEXEC, $O_NONBLOCK, $F_DUPFD_CLOEXEC) = (-100, 02000000, 04000, 1030);

syscall($PRCTL, $PR_SET_PDEATHSIG, $SIGKILL, 0, 0, 0) == 0 or exit 1;
exit 1 if getppid != $orderer;
# The first process in a sandbox, whose parent ends before it, becomes a child of this one: its end is heard of at once.
syscall($PRCTL, $PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 or exit 1;
my ($mask, $noMask) = (pack('Q', 1 << ($SIGCHLD - 1)), pack('Q', 0));
# A seat that is gone does not take its order, which must not end this process.
my $blocked = pack('Q', 1 << ($SIGCHLD - 1) | 1 << ($SIGPIPE - 1));
syscall($SIGPROCMASK, $SIG_BLOCK, $blocked, 0, 8) == 0 or exit 1;
my $deaths = syscall($SIGNALFD, -1, $mask, 8, $O_CLOEXEC | $O_NONBLOCK);
open(my $deathList, '<&=', $deaths) or exit 1;
my $reports = syscall($FCNTL, 1, $F_DUPFD_CLOEXEC, 3);

# By the number that the orderer chose, and back.
my (%pidOf, %idOf);
# Where a seat reads its order, by its number.
my %seats = ();
my $helper = $$;
my $text = '';
report('ready');
while (1) {
  my $readable = '';
  vec($readable, 0, 1) = 1;
  vec($readable, $deaths, 1) = 1;
  select($readable, undef, undef, undef);
  if (vec($readable, $deaths, 1)) {
    sysread($deathList, my $ignored, 1280);
    while ((my $pid = waitpid(-1, $WNOHANG)) > 0) {
      my $status = $?;
      my $id = delete $idOf{$pid};
      delete $seats{$pid};
      delete $pidOf{$id} if defined $id;
      report(defined $id ? "ended $id $status" : "gone $pid");
    }
  }
  if (vec($readable, 0, 1)) {
    sysread(STDIN, $text, 1 << 20, length $text) or exit 0;
    while (length $text >= 4) {
      my $length = unpack('N', $text);
      last if length $text < 4 + $length;
      my $order = substr($text, 4, $length);
      substr($text, 0, 4 + $length) = '';
      obey(split(/\0/, $order, -1));
    }
  }
}

sub obey {
  my ($kind, $id, @what) = @_;
  if ($kind eq 'start') { start($id, @what) }
  elsif ($kind eq 'seat') { open_seat() }
  elsif ($kind eq 'unseat') { delete $seats{$id} }
  elsif ($kind eq 'free') { free_memory($_ + 0) for $id, @what }
  elsif (defined $pidOf{$id}) { kill('KILL', $pidOf{$id}) }
}

# Into a seat, unless none is named.
sub start {
  my ($id, $seat, @what) = @_;
  my $orders = delete $seats{$seat};
  # The number of a seat that is gone may be another's by now.
  return report("failed $id $ESRCH") if $seat ne '' && !defined $orders;
  my $pid = $seat eq '' ? fork : $seat;
  return report("failed $id " . ($! + 0)) if !defined $pid;
  become($id, @what) if $pid == 0;
  ($pidOf{$id}, $idOf{$pid}) = ($pid, $id);
  # If it does not take its order, it is gone, and its end will be told.
  write_all($orders, pack('N/a*', join("\0", $id, @what))) if defined $orders;
}

sub open_seat {
  my $pid = pipe(my $orders, my $seat) ? fork : undef;
  sit($orders) if defined $pid && $pid == 0;
  $seats{$pid} = $seat if defined $pid;
  report('seat ' . ($pid // 0));
}

sub write_all {
  my ($pipe, $text) = @_;
  for (my $at = 0; $at < length $text;) {
    $at += syswrite($pipe, $text, length($text) - $at, $at) // return;
  }
}

# Ends with the helper, also while nobody knows what it will be.
sub sit {
  my ($orders) = @_;
  syscall($PRCTL, $PR_SET_PDEATHSIG, $SIGKILL, 0, 0, 0) == 0 or exit 1;
  exit 1 if getppid != $helper;
  %seats = ();
  my $order = '';
  do { sysread($orders, $order, 1 << 20, length $order) or exit 1 }
    while length $order < 4 || length $order < 4 + unpack('N', $order);
  syscall($PRCTL, $PR_SET_PDEATHSIG, 0, 0, 0, 0) == 0 or exit 1;
  become(split(/\0/, substr($order, 4), -1));
}

# In the child. Never returns.
sub become {
  my ($id, $user, $folder, $limits, $descriptors, $variables, @rest) = @_;
  my %environment = map { split(/=/, $_, 2) } splice(@rest, 0, $variables);
  my $opened = open_all($descriptors);
  if (defined $opened) {
    report("started $id $$");
    execute($user, $folder, $limits, $opened, \%environment, @rest);
  }
  report("failed $id " . ($! + 0));
  exit 127;
}

sub open_all {
  my ($descriptors) = @_;
  my @opened;
  for (split(/ /, $descriptors)) {
    my ($number, $flags) = split(/:/, $_);
    my $path = "/proc/$orderer/fd/$number";
    my $fd = syscall($OPENAT, $AT_FDCWD, $path, $flags | $O_CLOEXEC, 0);
    return if $fd < 0;
    push @opened, $fd;
  }
  return \@opened;
}

# Returns only when something fails, with the reason in $!.
sub execute {
  my ($user, $folder, $limits, $opened, $environment, @command) = @_;
  my $count = @$opened;
  $reports = move_above($reports, $count);
  my @sources = map { move_above($_, $count) } @$opened;
  for my $at (0 .. $#sources) { return if syscall($DUP3, $sources[$at], $at, 0) < 0 }
  return if syscall($SETSID) < 0;
  chdir($folder) or return;
  for (split(/ /, $limits)) {
    my ($resource, $soft, $hard) = map { $_ + 0 } split(/:/, $_);
    return if syscall($SETRLIMIT, $resource, pack('QQ', $soft, $hard)) != 0;
  }
  if ($user ne '') {
    my ($uid, $gid) = map { $_ + 0 } split(/:/, $user);
    return if syscall($SETGROUPS, 0, 0) != 0;
    return if syscall($SETRESGID, $gid, $gid, $gid) != 0;
    return if syscall($SETRESUID, $uid, $uid, $uid) != 0;
  }
  return if syscall($SIGPROCMASK, $SIG_SETMASK, $noMask, 0, 8) != 0;
  # Perl itself ignores it.
  $SIG{FPE} = 'DEFAULT';
  %ENV = %$environment;
  no warnings 'exec';
  exec { $command[0] } @command;
}

# Helps a process that was killed to give back its memory: it does so alone, and is not gone before. The kernel
# refuses for any other process, so a number that is another's by now does no harm.
sub free_memory {
  my ($pid) = @_;
  my $process = syscall($PIDFD_OPEN, $pid, 0);
  return if $process < 0;
  syscall($PROCESS_MRELEASE, $process, 0);
  syscall($CLOSE, $process);
}

# Out of the way of the descriptors that the child is to have.
sub move_above {
  my ($fd, $count) = @_;
  return $fd >= $count ? $fd : syscall($FCNTL, $fd, $F_DUPFD_CLOEXEC, $count);
}

# Short enough to arrive whole, even if others report too.
sub report {
  my $line = "$_[0]\n";
  syscall($WRITE, $reports, $line, length $line) == length $line or exit 1;
}
`;
