"""What tests share: sessions, processes, tables to copy, traces."""
