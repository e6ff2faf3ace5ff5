/**
 * Perl, because it is small: to fork Node takes milliseconds, in which Node does nothing else. Here a child can also be
 * put under its limits without a further program. Every Debian has this interpreter.
 *
 * It reads orders, each a length of four bytes and then fields with NULs between them, and reports in lines. It opens the
 * descriptors of a child anew from those of the process that ordered it, which keeps them until it has heard. It alone
 * kills its children: as long as it has not waited for one, the number cannot be another's.
 */
export const startForOthers = String.raw`
use strict;
use warnings;

my ($orderer, $PRCTL, $SIGPROCMASK, $SIGNALFD, $OPENAT, $CLOSE, $WRITE, $DUP3, $FCNTL, $SETSID, $SETGROUPS,
  $SETRESGID, $SETRESUID, $SETRLIMIT) = map { $_ + 0 } @ARGV;
my ($PR_SET_PDEATHSIG, $SIG_BLOCK, $SIG_SETMASK, $SIGKILL, $SIGCHLD, $WNOHANG) = (1, 0, 2, 9, 17, 1);
# The same everywhere.
my ($PIDFD_OPEN, $PROCESS_MRELEASE) = (434, 448);
my ($AT_FDCWD, $O_CLOEXEC, $O_NONBLOCK, $F_DUPFD_CLOEXEC) = (-100, 02000000, 04000, 1030);

syscall($PRCTL, $PR_SET_PDEATHSIG, $SIGKILL, 0, 0, 0) == 0 or exit 1;
exit 1 if getppid != $orderer;
my ($mask, $noMask) = (pack('Q', 1 << ($SIGCHLD - 1)), pack('Q', 0));
syscall($SIGPROCMASK, $SIG_BLOCK, $mask, 0, 8) == 0 or exit 1;
my $deaths = syscall($SIGNALFD, -1, $mask, 8, $O_CLOEXEC | $O_NONBLOCK);
open(my $deathList, '<&=', $deaths) or exit 1;
my $reports = syscall($FCNTL, 1, $F_DUPFD_CLOEXEC, 3);

# By the number that the orderer chose, and back.
my (%pidOf, %idOf);
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
      delete $pidOf{$id};
      report("ended $id $status");
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
  elsif ($kind eq 'free') { free_memory($_ + 0) for $id, @what }
  elsif (defined $pidOf{$id}) { kill('KILL', $pidOf{$id}) }
}

sub start {
  my ($id, $user, $folder, $limits, $descriptors, $variables, @rest) = @_;
  my %environment = map { split(/=/, $_, 2) } splice(@rest, 0, $variables);
  my @opened;
  for (split(/ /, $descriptors)) {
    my ($number, $flags) = split(/:/, $_);
    my $path = "/proc/$orderer/fd/$number";
    my $fd = syscall($OPENAT, $AT_FDCWD, $path, $flags | $O_CLOEXEC, 0);
    if ($fd < 0) {
      report("failed $id " . ($! + 0));
      close_all(@opened);
      return;
    }
    push @opened, $fd;
  }
  my $pid = fork;
  if (!defined $pid) { report("failed $id " . ($! + 0)) }
  elsif ($pid == 0) {
    become($user, $folder, $limits, \@opened, \%environment, @rest);
    report("failed $id " . ($! + 0));
    exit 127;
  } else {
    ($pidOf{$id}, $idOf{$pid}) = ($pid, $id);
    report("started $id $pid");
  }
  close_all(@opened);
}

# Returns only when something fails, with the reason in $!.
sub become {
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

sub close_all { syscall($CLOSE, $_) for @_ }

# Short enough to arrive whole, even if others report too.
sub report {
  my $line = "$_[0]\n";
  syscall($WRITE, $reports, $line, length $line) == length $line or exit 1;
}
`;
